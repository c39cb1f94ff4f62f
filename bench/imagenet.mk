# The matrix of bench/matrix: networks of ImageNet that other people trained and saved, as each family's files hold them, at every level on
# every device, each with the preprocessing that it was trained with.
D := $(DNN_TEST_DATA)
MODELS := $(D)/derived/squeezenet1_1_torch1.13_opset13.onnx $(D)/derived/squeezenet1_1_traced.pt $(D)/derived/squeezenet1.1_rebuilt_opset7.onnx \
  $(D)/derived/mobilenetV1X0.25_traced.pt $(D)/models/mobilenet_v1_0.25_224_keras/mobilenet_v1_0.25_224.h5 $(D)/derived/mobilenet_v1_0.25_224_frozen.pb \
  $(D)/models/mobilenet_v1_0.25_224_tflite/mobilenet_v1_0.25_224_1_default_1.tflite $(D)/models/mobilenet_v1_0.25_128_tflite/mobilenet_v1_0.25_128.tflite \
  $(D)/models/mobilenet_v1_0.25_224_tflite/mobilenet_v1_0.25_224_quant.tflite $(D)/models/coral_mobilenet_v1_0.5_160_quant/mobilenet_v1_0.5_160_quant.tflite \
  $(D)/models/mobilenet_v2_1.0_224_quant_tflite/mobilenet_v2_1.0_224_quant.tflite $(D)/models/mobilenet_v2_quant_onnx/mobilenet_v2_quant.onnx
OPTS := 0 1 2 3 4
OPTS_reference := $(OPTS)
DEVICES := reference cpu opencl:0 lib:onnxruntime lib:tflite lib:keras lib:torch
INPUT := $(D)/images/imagenet200

# bench/matrix makes the second of these lists from the first, by a line for the background.
LABELS := $(D)/images/labels/squeezenet_labels_1000.txt
WITH_BACKGROUND := --labels $(OUT)/labels_1001.txt
INFER_FLAGS_mobilenet_v1_0.25_224 := --preprocess imagenet-tf
INFER_FLAGS_mobilenet_v1_0.25_224_frozen := --preprocess imagenet-tf
INFER_FLAGS_mobilenet_v1_0.25_224_1_default_1 := --preprocess imagenet-tf $(WITH_BACKGROUND)
INFER_FLAGS_mobilenet_v1_0.25_128 := --preprocess imagenet-tf $(WITH_BACKGROUND)
# Quantised networks hold the scale of their input themselves.
INFER_FLAGS_mobilenet_v1_0.25_224_quant := --preprocess imagenet-tf $(WITH_BACKGROUND)
INFER_FLAGS_mobilenet_v1_0.5_160_quant := --preprocess imagenet-tf $(WITH_BACKGROUND)
INFER_FLAGS_mobilenet_v2_1.0_224_quant := --preprocess imagenet-tf $(WITH_BACKGROUND)
COMPILE_FLAGS_squeezenet1_1_traced := --shape 1x3x224x224
COMPILE_FLAGS_mobilenetV1X0.25_traced := --shape 1x3x224x224
REPORT_FLAGS := --title 'Networks of ImageNet at every level on every device'
