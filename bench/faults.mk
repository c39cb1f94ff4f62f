# Seeded faults in networks of every family, localised and repaired, as one table:
#   make -j2 -f bench/faults.mk DNN_TEST_DATA=... NETS=FOLDER OUT=FOLDER
# NETS: what scripts/make-nets makes. Each study keeps its results as they come, so that make may be ended and called again.
OUT ?= faults
BIN ?= build/release/bin
NETS ?= nets
ifeq ($(DNN_TEST_DATA),)
$(error DNN_TEST_DATA names no folder of models and images)
endif
D := $(DNN_TEST_DATA)
STUDY := python3 scripts/fault-study
PHOTOS := $(wildcard $(D)/images/imagenet200/n0[12]*0_*)
TINY := $(wildcard $(D)/images/cifar10_test/[cfst]*/0000.jpg)

# group: its networks, how they are localised, its inputs
MODELS_large := $(patsubst %,$(NETS)/%.onnx,resnet50 mobilenet_v2 inception_v3 densenet121 efficientnet_b0 squeezenet1_1 shufflenet_v2_x1_0 googlenet)
HOW_large := --device cpu --localize=--preprocess=imagenet-torch
INPUTS_large = $(wordlist 1,4,$(PHOTOS))
MODELS_google := $(D)/models/mobilenet_v1_0.25_128_tflite/mobilenet_v1_0.25_128.tflite $(D)/models/mobilenet_v1_0.25_224_keras/mobilenet_v1_0.25_224.h5
HOW_google := --device cpu --localize=--preprocess=imagenet-tf
INPUTS_google = $(wordlist 1,8,$(PHOTOS))
MODELS_torch := $(D)/derived/mobilenetV1X0.25_torch1.13_opset13.onnx $(D)/derived/squeezenet1.1_rebuilt_opset7.onnx
HOW_torch := --device cpu --localize=--preprocess=imagenet-torch
INPUTS_torch = $(wordlist 1,8,$(PHOTOS))
MODELS_raw := $(D)/models/cifar10_resnet8_mlperf/pretrainedResnet.h5
HOW_raw := --localize='"--preprocess=none resize=stretch"'
INPUTS_raw = $(TINY)
MODELS_scaled := $(D)/models/cifar10_resnet8_st/resnet_v1_8_32.h5 $(D)/models/vww_mlperf/vww_96_float.tflite
HOW_scaled := --localize='"--preprocess=none scale=1/255 resize=stretch"'
INPUTS_scaled = $(TINY)

# kind of study: GROUP:COUNT ..., and its options for a group
KINDS := single repair triple healthy
GROUPS_single := large:300 google:300 torch:150 raw:200 scaled:250
GROUPS_repair := large:80
GROUPS_triple := large:40 google:60 torch:40 raw:30 scaled:30
GROUPS_healthy := large:0 google:0 torch:0 raw:0 scaled:0
OPTIONS_single = $(if $(filter large,$(1)),,--repair)
OPTIONS_repair = --repair --seed 30000
OPTIONS_triple = --repair --together 3 --seed 40000
OPTIONS_healthy = --repair --formats '.onnx .tflite .pb .keras .pt .h5 .savedmodel .pth'

all: $(KINDS:%=$(OUT)/%.txt)
group = $(firstword $(subst :, ,$(1)))
count = $(lastword $(subst :, ,$(1)))
# $(1): kind, $(2): group, $(3): count. What a study fails by stands in its table; the exit code of the whole is the last table's.
define STUDY_OF
$(OUT)/$(1).$(2).json: | $(OUT)
	-$(STUDY) $$(MODELS_$(2)) --bin $(BIN) --count $(3) $$(HOW_$(2)) $$(call OPTIONS_$(1),$(2)) --resume $(OUT)/$(1).$(2).jsonl --json $$@ \
	  -- $$(INPUTS_$(2)) > $(OUT)/$(1).$(2).txt
endef
define TABLE_OF
$(OUT)/$(1).txt: $$(foreach g,$$(GROUPS_$(1)),$(OUT)/$(1).$$(call group,$$(g)).json)
	$(STUDY) --table $$(if $$(filter triple,$(1)),--together 3) $$^ > $$@ || { cat $$@; exit 1; }
endef
$(foreach k,$(KINDS),$(eval $(call TABLE_OF,$(k))) $(foreach g,$(GROUPS_$(k)),$(eval $(call STUDY_OF,$(k),$(call group,$(g)),$(call count,$(g))))))
$(OUT):
	mkdir -p $@
.DELETE_ON_ERROR:
.PHONY: all
